-- rule check: no write below the highest token written.
if not value then
  return accept()
end
if below(token, highest) then
  return refuse()
end
return accept('fence:highest', token)
