extension [ColumnHeader] {
    /// The header cells of a table.
    var markup: Markup {
        Markup { markup in
            markup.lines(self) { header, markup in header.write(to: &markup) }
        }
    }
}

extension ColumnHeader {
    fileprivate func write(to markup: inout Markup) {
        markup.raw(#"<th scope="col""#)
        switch kind {
        case .ids: markup.raw(#" class="id""#)
        case .numbers: markup.raw(#" class="numeric""#)
        case .others: break
        }
        switch direction {
        case .ascending?: markup.raw(#" aria-sort="ascending""#)
        case .descending?: markup.raw(#" aria-sort="descending""#)
        case nil: break
        }
        if let field {
            markup.raw(#" data-field=""#)
            markup.text(field)
            markup.raw(#"""#)
        }
        markup.raw(">")
        if let sortURL {
            markup.raw(#"<a class="sort" href=""#)
            markup.text(sortURL)
            markup.raw(#"">"#)
        }
        name.write(to: &markup)
        if sortURL != nil { markup.raw("</a>") }
        if !types.isEmpty {
            markup.raw(isMixed ? #" <span class="type unusual">"# : #" <span class="type">"#)
            markup.text(types.map(\.name).joined(separator: " · "))
            markup.raw("</span>")
        }
        markup.raw("</th>")
    }
}
