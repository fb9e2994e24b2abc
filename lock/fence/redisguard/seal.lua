-- rule seal: nothing below the highest token seen.
if below(token, highest) then
  return refuse()
end
return accept('fence:highest', token)
