-- redlock grant, fenced, first round: take the lock on this node and tell its token counter.
-- KEYS[1] lock key, KEYS[2] token counter; ARGV[1] owner id, ARGV[2] TTL in ms.
-- Returns the counter, or -1 while somebody holds the lock here.
if redis.call('EXISTS', KEYS[1]) == 1 then
  return -1
end
local counter = tonumber(redis.call('GET', KEYS[2]) or '0')
if not counter or counter < 0 or counter >= 2^53 then
  return redis.error_reply('ERR the token counter ' .. KEYS[2] .. ' is out of range')
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return counter
