# Reads the part of YAML that cloud-init's files use (block and flow collections, plain and quoted scalars, block
# scalars, comments; no anchors, tags or documents) and prints it as shell assignments:
#
#   v_a__b__0='…'   the scalar at a.b[0]          n_a__b=2       how many items the list or map a.b has
#   k_a='b c'       the keys of the map a, as they appear in variable names
#   o_a__b='b'      the key as it was written
#
# -v prefix=p puts p before each path. Characters of keys that a variable name cannot hold become "_".

function quote(text) {
  gsub(/'/, "'\\''", text)
  return "'" text "'"
}

function join_path(path, key) {
  gsub(/[^A-Za-z0-9_]/, "_", key)
  return path == "" ? key : path "__" key
}

function scalar(path, text) {
  printf "v_%s=%s\n", path, quote(text)
}

function note_key(path, key,    child) {
  child = join_path(path, key)
  printf "o_%s=%s\n", child, quote(key)
  gsub(/[^A-Za-z0-9_]/, "_", key)
  printf "k_%s=\"${k_%s:-} %s\"\n", path, path, key
  return child
}

function count(path, number) {
  printf "n_%s=%d\n", path, number
}

function indent_of(text) {
  match(text, /^ */)
  return RLENGTH
}

function skip_blank() {
  while (at <= lines && line[at] ~ /^[ \t]*(#.*)?$/) at++
  if (at <= lines && line[at] ~ /^(---|\.\.\.)([ \t]|$)/) { at++; skip_blank() }
}

function trim(text) {
  sub(/^[ \t]+/, "", text)
  sub(/[ \t]+$/, "", text)
  return text
}

function unescape(text,    out, i, c) {
  out = ""
  for (i = 1; i <= length(text); i++) {
    c = substr(text, i, 1)
    if (c == "\\") {
      i++
      c = substr(text, i, 1)
      if (c == "n") c = "\n"
      else if (c == "t") c = "\t"
      else if (c == "r") c = "\r"
      else if (c == "x") { c = sprintf("%c", hexadecimal(substr(text, i + 1, 2))); i += 2 }
      else if (c == "u") { c = sprintf("%c", hexadecimal(substr(text, i + 1, 4))); i += 4 }
    }
    out = out c
  }
  return out
}

function hexadecimal(text,    value, i) {
  value = 0
  for (i = 1; i <= length(text); i++) value = value * 16 + index("0123456789abcdef", tolower(substr(text, i, 1))) - 1
  return value
}

# Where the quoted scalar at the start of text ends (the closing quote's position), or 0.
function quoted_end(text,    mark, i, c) {
  mark = substr(text, 1, 1)
  for (i = 2; i <= length(text); i++) {
    c = substr(text, i, 1)
    if (mark == "\"" && c == "\\") i++
    else if (c == mark) {
      if (mark == "'" && substr(text, i + 1, 1) == "'") i++
      else return i
    }
  }
  return 0
}

function unquote(text,    mark) {
  mark = substr(text, 1, 1)
  text = substr(text, 2, length(text) - 2)
  if (mark == "\"") return unescape(text)
  gsub(/''/, "'", text)
  return text
}

function plain(text) {
  sub(/[ \t]#.*$/, "", text)
  text = trim(text)
  return text == "~" || text == "null" ? "" : text
}

# Splits "key: rest" into key_text and rest_text; 0 if the text is no map entry.
function split_entry(text,    end) {
  if (text ~ /^["']/) {
    end = quoted_end(text)
    if (end == 0 || substr(text, end + 1) !~ /^[ \t]*:([ \t]|$)/) return 0
    key_text = unquote(substr(text, 1, end))
    rest_text = substr(text, end + 1)
    sub(/^[ \t]*:/, "", rest_text)
    rest_text = trim(rest_text)
    return 1
  }
  if (text ~ /^[\[{|>#-][ \t]*$/ || text ~ /^[\[{]/) return 0
  if (!match(text, /:([ \t]|$)/)) return 0
  key_text = trim(substr(text, 1, RSTART - 1))
  if (key_text ~ / #/) return 0
  rest_text = trim(substr(text, RSTART + 1))
  return 1
}

function block_scalar(path, header, parent,    fold, keep, out, base, text, blank, folding) {
  fold = substr(header, 1, 1) == ">"
  keep = header ~ /\+/ ? 1 : header ~ /-/ ? -1 : 0
  base = -1
  out = ""
  blank = 0
  folding = 0
  for (; at <= lines; at++) {
    text = line[at]
    if (text ~ /^[ \t]*$/) { blank++; continue }
    if (indent_of(text) <= parent) break
    if (base < 0) base = indent_of(text)
    if (indent_of(text) < base) break
    text = substr(text, base + 1)
    if (out != "" || blank) {
      if (fold && folding && !blank) out = out " "
      else for (blank += fold && folding ? 0 : out != ""; blank > 0; blank--) out = out "\n"
    }
    out = out text
    folding = text !~ /^[ \t]/
    blank = 0
  }
  if (keep >= 0 && out != "") out = out "\n"
  if (keep > 0) for (; blank > 0; blank--) out = out "\n"
  scalar(path, out)
}

function balanced(text,    depth, i, c, end) {
  depth = 0
  for (i = 1; i <= length(text); i++) {
    c = substr(text, i, 1)
    if (c == "\"" || c == "'") {
      end = quoted_end(substr(text, i))
      if (end == 0) return 0
      i += end - 1
    } else if (c == "[" || c == "{") depth++
    else if (c == "]" || c == "}") depth--
  }
  return depth <= 0
}

# A value that starts on the present line, behind a key or a dash.
function inline_value(path, text, parent,    end) {
  at++
  if (text ~ /^[|>][-+0-9]*[ \t]*(#.*)?$/) { block_scalar(path, text, parent); return }
  if (text ~ /^[\[{]/) {
    while (!balanced(text) && at <= lines) { text = text " " trim(line[at]); at++ }
    flow = text
    flow_value(path)
    return
  }
  if (text ~ /^["']/) {
    while (!(end = quoted_end(text)) && at <= lines) { text = text " " trim(line[at]); at++ }
    scalar(path, unquote(substr(text, 1, end)))
    return
  }
  # Plain scalars go on over deeper lines.
  text = plain(text)
  while (at <= lines && line[at] !~ /^[ \t]*(#.*)?$/ && indent_of(line[at]) > parent) {
    text = text " " plain(line[at])
    at++
  }
  scalar(path, text)
}

function flow_blank() {
  sub(/^[ \t]+/, "", flow)
}

function flow_scalar(stop,    end, text) {
  flow_blank()
  if (flow ~ /^["']/) {
    end = quoted_end(flow)
    text = unquote(substr(flow, 1, end))
    flow = substr(flow, end + 1)
    flow_blank()
    return text
  }
  end = match(flow, stop)
  if (end == 0) end = length(flow) + 1
  text = plain(substr(flow, 1, end - 1))
  flow = substr(flow, end)
  return text
}

function flow_value(path,    items, child) {
  flow_blank()
  if (flow ~ /^\[/) {
    flow = substr(flow, 2)
    for (items = 0; ; items++) {
      flow_blank()
      if (flow == "" || flow ~ /^\]/) break
      flow_value(path "__" items)
      flow_blank()
      if (flow ~ /^,/) flow = substr(flow, 2)
    }
    flow = substr(flow, 2)
    count(path, items)
  } else if (flow ~ /^\{/) {
    flow = substr(flow, 2)
    for (items = 0; ; items++) {
      flow_blank()
      if (flow == "" || flow ~ /^\}/) break
      child = note_key(path, flow_scalar(":([ \t]|$)|[,}]|:"))
      if (flow ~ /^:/) { flow = substr(flow, 2); flow_value(child) }
      flow_blank()
      if (flow ~ /^,/) flow = substr(flow, 2)
    }
    flow = substr(flow, 2)
    count(path, items)
  } else scalar(path, flow_scalar("[],}]"))
}

function node(path, least,    own, text) {
  skip_blank()
  if (at > lines || (own = indent_of(line[at])) < least) return
  text = substr(line[at], own + 1)
  if (text ~ /^-([ \t]|$)/) list(path, own)
  else if (split_entry(text)) map(path, own)
  else inline_value(path, text, least - 1)
}

function list(path, own,    items, text, gap, before) {
  items = 0
  while (1) {
    skip_blank()
    if (at > lines || indent_of(line[at]) != own || substr(line[at], own + 1) !~ /^-([ \t]|$)/) break
    text = substr(line[at], own + 2)
    gap = 1 + indent_of(text)
    text = trim(text)
    before = at
    if (text == "" || text ~ /^#/) { at++; node(path "__" items, own + 1) }
    else if (text ~ /^-([ \t]|$)/ || split_entry(text)) {
      # The item's collection starts behind the dash: seen from here, at that column.
      line[at] = sprintf("%" (own + gap) "s", "") text
      node(path "__" items, own + 1)
    } else inline_value(path "__" items, text, own)
    if (at == before) at++
    items++
  }
  count(path, items)
}

function map(path, own,    items, child, before) {
  items = 0
  while (1) {
    skip_blank()
    if (at > lines || indent_of(line[at]) != own || !split_entry(substr(line[at], own + 1))) break
    before = at
    child = note_key(path, key_text)
    if (rest_text == "" || rest_text ~ /^#/) {
      at++
      skip_blank()
      # A list may stand at the column of its key.
      if (at <= lines && indent_of(line[at]) == own && substr(line[at], own + 1) ~ /^-([ \t]|$)/) list(child, own)
      else node(child, own + 1)
    } else inline_value(child, rest_text, own)
    if (at == before) at++
    items++
  }
  count(path, items)
}

{
  sub(/\r$/, "")
  line[NR] = $0
}

END {
  lines = NR
  at = 1
  skip_blank()
  if (at <= lines && line[at] ~ /^[\[{]/) inline_value(prefix, line[at], -1)
  else node(prefix, 0)
}
