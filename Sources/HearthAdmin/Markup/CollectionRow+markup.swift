import DocumentModel

extension CollectionRow {
    /// Writes the row of the table.
    ///
    /// - Parameters:
    ///   - mayWrite: Whether who looks may change documents, and so tick them.
    ///   - columnCount: How many columns there are beside that of the IDs.
    func write(to markup: inout Markup, mayWrite: Bool, columnCount: Int) {
        markup.raw(cells == nil ? #"<tr class="missing" data-key=""# : #"<tr data-key=""#)
        // An ID may hold what an attribute can't; its address is as good.
        markup.text(link.url)
        markup.raw(#"""#)
        markup.raw(">\n<th scope=\"row\" class=\"id\">")
        if let version, mayWrite {
            markup.raw(#"<input type="checkbox" name="row" value=""#)
            markup.text(version.formText)
            markup.raw(#"" form="selection" aria-label=""#)
            markup.text(localized("Select {id}", ["id": link.text.plain]))
            markup.raw(#"">"#)
        }
        link.write(to: &markup)
        markup.raw("</th>\n")
        if let cells {
            for cell in cells { cell.write(to: &markup) }
        } else {
            markup.raw(#"<td colspan=""#)
            markup.text(String(columnCount))
            markup.raw(#"" class="note">"#)
            markup.text(localized("No document, only collections below it"))
            markup.raw("</td>\n")
        }
        markup.raw("</tr>")
    }
}

extension [CollectionRow] {
    /// All rows of a table.
    func markup(mayWrite: Bool, columnCount: Int) -> Markup {
        Markup { markup in
            for row in self { row.write(to: &markup, mayWrite: mayWrite, columnCount: columnCount) }
        }
    }
}

extension CollectionRow.Cell {
    fileprivate func write(to markup: inout Markup) {
        switch (isNumeric, unusualType) {
        case _ where value == nil: markup.raw(#"<td class="none">"#)
        case (true, nil): markup.raw(#"<td class="numeric">"#)
        case (true, .some): markup.raw(#"<td class="numeric odd">"#)
        case (false, .some): markup.raw(#"<td class="odd">"#)
        case (false, nil): markup.raw("<td>")
        }
        if let value {
            value.write(to: &markup)
        } else {
            markup.raw(#"<span class="unseen">"#)
            markup.text(localized("no such field"))
            markup.raw("</span>")
        }
        if let unusualType {
            markup.raw(#" <span class="type unusual">"#)
            markup.text(unusualType.name)
            markup.raw("</span>")
        }
        markup.raw("</td>\n")
    }
}
