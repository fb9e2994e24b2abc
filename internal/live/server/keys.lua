-- All keys of the database at one moment: name, type, expiry and time to live in milliseconds (-1 for none), content.
local read = {
	string = function(k) return {redis.call('GET', k)} end,
	list = function(k) return redis.call('LRANGE', k, 0, -1) end,
	set = function(k) return redis.call('SMEMBERS', k) end,
	hash = function(k) return redis.call('HGETALL', k) end,
	zset = function(k) return redis.call('ZRANGE', k, 0, -1, 'WITHSCORES') end,
}
local all = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
	local kind = redis.call('TYPE', key).ok
	local content = read[kind] and read[kind](key) or {}
	all[#all + 1] = {key, kind, redis.call('PEXPIRETIME', key), redis.call('PTTL', key), content}
end
return all
