-- lock release, fair: give up what the claim has, the lock or its place in the queue, and tell the next one.
-- KEYS[1] lock key, KEYS[2] queue, KEYS[3] places; ARGV[1] owner id, ARGV[2] start of the waiters' channels.
-- Returns 1 if the claim had the lock, 0 if not. Only the first in line is told, so no herd wakes (F55).
local lock, queue, places, owner = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local held = 0
redis.call('ZREM', queue, owner)
redis.call('ZREM', places, owner)
if redis.call('TYPE', lock).ok == 'string' and redis.call('GET', lock) == owner then
  held = redis.call('DEL', lock)
end
if redis.call('EXISTS', lock) == 1 then
  return held
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, id in ipairs(redis.call('ZRANGE', queue, 0, -1)) do
  if tonumber(redis.call('ZSCORE', places, id) or 0) > now then -- the dead in front of it cannot hear
    redis.pcall('PUBLISH', ARGV[2] .. id, '')
    return held
  end
end
return held
