-- lock grant, fair: take the lock if it is free and nobody is before the claim; else wait in the queue.
-- KEYS[1] lock key, KEYS[2] queue, KEYS[3] places, KEYS[4] token counter if the lock is fenced;
-- ARGV[1] owner id, ARGV[2] TTL in ms, ARGV[3] how long a place lasts in ms, ARGV[4] 'wait' or 'once'.
-- Returns the token, 1 if the lock mints none, 0 if the claim is to wait.
-- queue: owner -> number in the line. places: owner -> end of the place, on this node's own clock, since
-- the waiters' clocks differ (F53). Each request renews the place of its own claim (F52).
local lock, queue, places, counter = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, ttl, lasts = ARGV[1], ARGV[2], tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, silent in ipairs(redis.call('ZRANGEBYSCORE', places, '-inf', string.format('%.0f', now))) do
  if silent ~= owner then -- it has not asked for as long as a place lasts: dead (F51)
    redis.call('ZREM', queue, silent)
    redis.call('ZREM', places, silent)
  end
end
local first = redis.call('ZRANGE', queue, 0, 0)[1]
if redis.call('EXISTS', lock) == 0 and (first == nil or first == owner) then
  local token = 1
  if counter then
    token = redis.call('INCR', counter)
    if token < 1 or token >= 2^53 then
      return redis.error_reply('ERR the token counter ' .. counter .. ' is out of range')
    end
  end
  redis.call('ZREM', queue, owner)
  redis.call('ZREM', places, owner)
  redis.call('SET', lock, owner, 'PX', ttl)
  return token
end
if ARGV[4] == 'wait' then
  if not redis.call('ZSCORE', queue, owner) then
    local last = redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2] or 0
    redis.call('ZADD', queue, string.format('%.0f', last + 1), owner)
  end
  redis.call('ZADD', places, string.format('%.0f', now + lasts), owner)
  for _, key in ipairs({queue, places}) do -- so that nothing stays when all who wait have died
    if redis.call('PTTL', key) < lasts then
      redis.call('PEXPIRE', key, lasts)
    end
  end
end
return 0
