-- lock grant, reentrant: take the lock, or enter it again if the owner has it.
-- KEYS[1] lock key, KEYS[2] token counter if the lock is fenced;
-- ARGV[1] field of the owner, ARGV[2] field of this entry, ARGV[3] TTL in ms.
-- Returns the token, 1 if the lock mints none, 0 while somebody else holds the lock.
-- The key is a hash: the owner's field counts its entries, each entry has a field of its own, so that a
-- request that comes twice counts once, and 'token' is the token of all of them (F34).
local lock, counter, owner, entry, ttl = KEYS[1], KEYS[2], ARGV[1], ARGV[2], tonumber(ARGV[3])
if redis.call('EXISTS', lock) == 1 then
  if redis.call('TYPE', lock).ok ~= 'hash' or redis.call('HEXISTS', lock, owner) == 0 then
    return 0
  end
end
local token = 1
if counter then -- minted first: see the other fenced grant
  token = tonumber(redis.call('HGET', lock, 'token') or redis.call('INCR', counter))
  if token < 1 or token >= 2^53 then
    return redis.error_reply('ERR the token counter ' .. counter .. ' is out of range')
  end
  redis.call('HSETNX', lock, 'token', string.format('%.0f', token))
end
if redis.call('HSETNX', lock, entry, 1) == 1 then
  redis.call('HINCRBY', lock, owner, 1)
end
if redis.call('PTTL', lock) < ttl then -- never less than an earlier entry was told
  redis.call('PEXPIRE', lock, ttl)
end
return token
