-- lock extend: let the key live longer if it is still the owner's (F04). A key that is gone stays gone (F05).
-- KEYS[1] lock key; ARGV[1] owner id, ARGV[2] TTL in ms. Returns 1 if it was renewed, 0 if it was gone or another's.
-- TYPE first: a kind whose key is no string may have taken the lock meanwhile.
if redis.call('TYPE', KEYS[1]).ok == 'string' and redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
