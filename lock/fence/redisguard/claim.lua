-- rule claim: a read claims, a write needs its own grant's claim.
if not value then
  return accept('fence:grant', grant)
end
if holder ~= grant then
  return refuse()
end
return accept()
