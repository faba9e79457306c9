-- A table with many columns and texts in one of them is shown on a phone row by row, so that nobody has to scroll to its
-- answers: each cell gets the name of its column, which styles.css puts in front of it. Other wide tables scroll.

local MANY_COLUMNS = 3
local TEXT = 18                 -- mean length of the cells in a column of texts, in characters

-- A formula as text: τ² for \tau^2. Pandoc leaves what it cannot write in this way as it is.
local function formula_as_text(math)
  local text = pandoc.write(pandoc.Pandoc({pandoc.Plain({math})}), 'plain')
  return pandoc.Str((text:gsub('%s+$', '')))
end

-- The name of a column. In the other cells only the length counts, and pandoc warns of formulas that it cannot write as text.
local function name_of(cell)
  return pandoc.utils.stringify(pandoc.Div(cell.contents):walk({Math = formula_as_text}))
end

local function has_plain_cells(row, n_columns)
  if #row.cells ~= n_columns then return false end
  for _, cell in ipairs(row.cells) do
    if cell.col_span ~= 1 or cell.row_span ~= 1 then return false end
  end
  return true
end

local function rows_of(tbl)
  local rows = pandoc.List()
  for _, body in ipairs(tbl.bodies) do
    rows:extend(body.body)
  end
  return rows
end

local function has_texts(rows, column)
  local length = 0
  for _, row in ipairs(rows) do
    length = length + pandoc.text.len(pandoc.utils.stringify(row.cells[column].contents))
  end
  return length / #rows >= TEXT
end

local function shows_texts(rows, n_columns)
  for column = 1, n_columns do
    if has_texts(rows, column) then return true end
  end
  return false
end

function Table(tbl)
  local n_columns, rows = #tbl.colspecs, rows_of(tbl)
  if n_columns < MANY_COLUMNS or #rows == 0 or #tbl.head.rows ~= 1 then return nil end
  local names = tbl.head.rows[1]
  if not has_plain_cells(names, n_columns) then return nil end
  for _, row in ipairs(rows) do
    if not has_plain_cells(row, n_columns) then return nil end
  end
  if not shows_texts(rows, n_columns) then return nil end
  for _, row in ipairs(rows) do
    for column, cell in ipairs(row.cells) do
      cell.attr.attributes['data-label'] = name_of(names.cells[column])
    end
  end
  tbl.attr.classes:insert('by-row')
  return tbl
end
