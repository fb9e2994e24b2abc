-- lock grant, fenced: take the lock and mint its token in one step (apart, they swap order: F06, F07).
-- KEYS[1] lock key, KEYS[2] token counter; ARGV[1] owner id, ARGV[2] TTL in ms.
-- Returns the token, or 0 while somebody holds the lock. The counter has no TTL (F10).
-- The token is minted first because Redis does not roll back a script that fails half-way: an unused
-- token does no harm, a lock without a holder does. From 2^53 on Lua's numbers would repeat.
if redis.call('EXISTS', KEYS[1]) == 1 then
  return 0
end
local token = redis.call('INCR', KEYS[2])
if token < 1 or token >= 2^53 then
  return redis.error_reply('ERR the token counter ' .. KEYS[2] .. ' is out of range')
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return token
