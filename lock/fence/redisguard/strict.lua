-- rule strict: nothing below the highest token seen, and that one only from the grant that sent it first.
if below(token, highest) or (token == highest and holder ~= '' and holder ~= grant) then
  return refuse()
end
return accept('fence:highest', token, 'fence:grant', grant)
