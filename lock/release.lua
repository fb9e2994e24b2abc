-- lock release: delete the key if it is still the owner's (compare and delete in one step: F02, F03).
-- KEYS[1] lock key; ARGV[1] owner id. Returns 1 if it was deleted, 0 if it was gone or another's.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
