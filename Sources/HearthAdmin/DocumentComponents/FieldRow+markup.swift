extension FieldRow {
    /// The `id` of the first row beyond those that are shown at first.
    static let moreID = "more"

    /// Writes the table row.
    func write(to markup: inout Markup) {
        let path = path.plain
        markup.raw(#"<tr class="depth-"#)
        markup.text(String(depth))
        if case .link = content { markup.raw(" more") }
        if isFirstOfMore {
            markup.raw(#"" id=""#)
            markup.text(Self.moreID)
        }
        markup.raw(#"" data-key=""#)
        markup.text(path)
        markup.raw("\">\n")
        switch content {
        case .value(let row): row.write(at: path, to: &markup)
        case .link(let link, let parent):
            markup.raw(#"<th scope="row" colspan="3"><a href=""#)
            markup.text(link.url)
            markup.raw(#"">"#)
            markup.visuallyHidden(parent)
            link.text.write(to: &markup)
            markup.raw("</a></th>")
        }
        markup.raw("\n</tr>")
    }
}

extension FieldValueRow {
    fileprivate func write(at path: String, to markup: inout Markup) {
        markup.raw("<th scope=\"row\" title=\"")
        markup.text(path)
        markup.raw(#"">"#)
        if isContainer {
            markup.raw(#"<details class="fold-toggle" open><summary aria-label=""#)
            markup.text(name.plain)
            markup.raw(#""></summary></details>"#)
        }
        if let parent { markup.visuallyHidden(parent) }
        markup.raw(isElement ? #"<span class="index">"# : #"<span class="name">"#)
        name.write(to: &markup)
        markup.raw("</span></th>\n<td class=\"type\">")
        markup.text(type.name)
        markup.raw("</td>\n<td class=\"value\">")
        value.write(to: &markup)
        markup.valueLinks(filters, editURL: editURL)
        markup.raw("</td>")
    }
}

extension Markup {
    /// Writes a path for screen readers, before a text that it belongs to.
    fileprivate mutating func visuallyHidden(_ path: DisplayText) {
        raw(#"<span class="visually-hidden">"#)
        path.write(to: &self)
        raw(" </span>")
    }
}

extension [FieldRow] {
    /// The rows, without table bodies.
    var markup: Markup {
        Markup { markup in
            for row in self { row.write(to: &markup) }
        }
    }

    /// The table bodies. Each map or array of the document's fields has one with its contents, which folds.
    var bodiesMarkup: Markup {
        Markup { markup in
            markup.lines(bodies) { rows, markup in
                markup.raw("<tbody>\n")
                for row in rows { row.write(to: &markup) }
                markup.raw("</tbody>")
            }
        }
    }
}
