import DocumentModel

extension CollectionRow {
    /// Writes the table row.
    ///
    /// - Parameters:
    ///   - canWrite: Whether the user may change documents; the row then begins with a cell for a checkbox.
    ///   - columnCount: The number of columns besides those of the checkbox and the ID.
    func write(to markup: inout Markup, canWrite: Bool, columnCount: Int) {
        markup.raw(cells == nil ? #"<tr class="missing" data-key=""# : #"<tr data-key=""#)
        // Unlike its URL, an ID may contain characters that an attribute cannot.
        markup.text(link.url)
        markup.raw(#"""#)
        markup.raw(">\n")
        if canWrite {
            markup.raw(#"<td class="select">"#)
            version?.writeCheckbox(labeled: link.text, to: &markup)
            markup.raw("</td>\n")
        }
        markup.raw(#"<th scope="row" class="id">"#)
        link.write(to: &markup)
        markup.raw("</th>\n")
        if let cells {
            for cell in cells { cell.write(to: &markup) }
        } else {
            markup.raw(#"<td colspan=""#)
            markup.text(String(columnCount))
            markup.raw(#"" class="note">"#)
            markup.text(localized("Missing document with subcollections"))
            markup.raw("</td>\n")
        }
        markup.raw("</tr>")
    }
}

extension [CollectionRow] {
    /// Returns the rows of a table body.
    func markup(canWrite: Bool, columnCount: Int) -> Markup {
        Markup { markup in
            for row in self { row.write(to: &markup, canWrite: canWrite, columnCount: columnCount) }
        }
    }
}

extension SelectedDocument {
    /// Writes the checkbox that selects the document of a row.
    fileprivate func writeCheckbox(labeled id: DisplayText, to markup: inout Markup) {
        markup.raw(#"<input type="checkbox" name="row" value=""#)
        markup.text(formValue)
        markup.raw(#"" form="selection" aria-label=""#)
        markup.text(localized("Select {id}", ["id": id.plain]))
        markup.raw(#"">"#)
    }
}

extension CollectionRow.Cell {
    fileprivate func write(to markup: inout Markup) {
        switch (isNumeric, unusualType) {
        case _ where value == nil: markup.raw(#"<td class="absent">"#)
        case (true, nil): markup.raw(#"<td class="numeric">"#)
        case (true, .some): markup.raw(#"<td class="numeric unusual-cell">"#)
        case (false, .some): markup.raw(#"<td class="unusual-cell">"#)
        case (false, nil): markup.raw("<td>")
        }
        if let value {
            value.write(to: &markup)
        } else {
            markup.raw(#"<span class="visually-hidden">"#)
            markup.text(localized("no such field"))
            markup.raw("</span>")
        }
        if let unusualType {
            markup.raw(#" <span class="type unusual">"#)
            markup.text(unusualType.name)
            markup.raw("</span>")
        }
        markup.valueLinks(filters, editURL: editURL)
        markup.raw("</td>\n")
    }
}
