-- rule cas: a write needs the version that is there, and makes the next.
if not value then
  return accept()
end
if base ~= version then
  return refuse()
end
return accept('fence:version:' .. field, string.format('%.0f', version + 1))
