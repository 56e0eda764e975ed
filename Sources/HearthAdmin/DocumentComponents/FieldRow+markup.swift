extension FieldRow {
    /// Writes the table row.
    func write(to markup: inout Markup) {
        let path = path.plain
        markup.raw(#"<tr class="depth-"#)
        markup.text(String(depth))
        markup.raw(#"" data-key=""#)
        markup.text(path)
        markup.raw("\">\n<th scope=\"row\" title=\"")
        markup.text(path)
        markup.raw(#"">"#)
        if let parent {
            markup.raw(#"<span class="visually-hidden">"#)
            parent.write(to: &markup)
            markup.raw(" </span>")
        }
        markup.raw(isElement ? #"<span class="index">"# : #"<span class="name">"#)
        name.write(to: &markup)
        markup.raw("</span></th>\n<td class=\"type\">")
        markup.text(type.name)
        markup.raw("</td>\n<td class=\"value\">")
        value.write(to: &markup)
        markup.valueLinks(filters, editURL: editURL)
        markup.raw("</td>\n</tr>")
    }
}

extension [FieldRow] {
    /// The rows of a table body.
    var markup: Markup {
        Markup { markup in
            for row in self { row.write(to: &markup) }
        }
    }
}
