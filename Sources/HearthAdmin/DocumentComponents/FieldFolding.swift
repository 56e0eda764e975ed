extension [FieldRow] {
    /// The rows of each table body: a map or array of the document's fields with its contents, or the fields between two of those.
    var bodies: [ArraySlice<FieldRow>] {
        var bodies: [ArraySlice<FieldRow>] = []
        var start = startIndex
        var isInContainer = false
        for (index, row) in enumerated() where row.depth == 0 {
            if index > start, row.isContainer || isInContainer {
                bodies.append(self[start..<index])
                start = index
            }
            isInContainer = row.isContainer
        }
        bodies.append(self[start...])
        return bodies
    }

    /// The CSS rules by which maps and arrays inside of others fold where no script does it. Those of the document's fields fold by a
    /// rule of the style sheet.
    ///
    /// A document with more than 200 such maps and arrays has none, since browsers try each rule for each row.
    ///
    /// A rule has the positions of the rows, because no selector describes the rows up to the next one of the same depth. The
    /// rule ends with the hidden rows, so that browsers test few rows. No rule needs to be escaped in HTML.
    var foldRules: [String] {
        var rules: [String] = []
        for (index, body) in bodies.enumerated() {
            var open: [(depth: Int, position: Int)] = []
            func close(from depth: Int, after end: Int) {
                while let last = open.last, last.depth >= depth {
                    open.removeLast()
                    guard end > last.position else { continue }
                    let rows = ".fields tbody:nth-of-type(\(index + 1)) tr:nth-child"
                    let hidden = "tr:nth-child(n+\(last.position + 1)):nth-child(-n+\(end))"
                    rules.append("\(rows)(\(last.position)):has(th details:not([open]))~\(hidden){display:none}")
                }
            }
            for (offset, row) in body.enumerated() {
                close(from: row.depth, after: offset)
                if row.isContainer, row.depth > 0 { open.append((row.depth, offset + 1)) }
            }
            close(from: 0, after: body.count)
        }
        guard (1...200).contains(rules.count) else { return [] }
        let shown = ".fields:not([data-folds]) tr:not(.depth-0) th .fold-toggle{display:inline-block}"
        return ["@supports selector(:has(*)){", shown] + rules + ["}"]
    }
}
