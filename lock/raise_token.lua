-- redlock grant, fenced, second round: raise this node's token counter to the token, never lower it.
-- KEYS[1] lock key, KEYS[2] token counter; ARGV[1] owner id, ARGV[2] token.
-- Returns 1, or 0 if the lock was gone or another's: only an owner may count, or two grants could
-- write at one node without either having read the other's token.
if redis.call('TYPE', KEYS[1]).ok ~= 'string' or redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
if tonumber(redis.call('GET', KEYS[2]) or '0') < tonumber(ARGV[2]) then
  redis.call('SET', KEYS[2], ARGV[2])
end
return 1
