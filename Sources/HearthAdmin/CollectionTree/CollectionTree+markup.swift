import DocumentModel
import UTF8Text

extension CollectionTree: MarkupConvertible {
    var markup: Markup {
        Markup { markup in Self.write(nodes, to: &markup) }
    }

    private static func write(_ nodes: [Node], to markup: inout Markup) {
        markup.lines(nodes) { node, markup in node.write(to: &markup) }
    }
}

extension CollectionTree.Node {
    /// The label of a node: the collection ID, preceded by the document that the collection is below.
    static func labels(of path: CollectionPath) -> [DisplayText] {
        ((path.parent.map { [$0.id.key] } ?? []) + [path.id.key]).map { DisplayText($0.string) }
    }

    fileprivate func write(to markup: inout Markup) {
        let labels = Self.labels(of: path)
        markup.raw(#"<li><a href=""#)
        markup.text(AdminURL.collection(path))
        markup.raw(#"""#)
        if isCurrent { markup.ariaCurrent("true") }
        markup.raw(">")
        for (index, label) in labels.enumerated() {
            if index > 0 { markup.raw(" / ") }
            label.write(to: &markup)
        }
        markup.raw("</a>")
        let name = labels.map(\.plain).joined(separator: "/")
        if let children {
            if !children.isEmpty || hasMore { write(children, named: name, to: &markup) }
        } else {
            writeToggle(named: name, to: &markup)
            markup.raw(#"<p class="more">"#)
            writeMore(localized("List subcollections"), to: &markup)
            markup.raw("</p></details>")
        }
        markup.raw("</li>")
    }

    private func write(_ children: [Self], named name: String, to markup: inout Markup) {
        writeToggle(named: name, to: &markup)
        if !children.isEmpty {
            markup.raw("\n<ul>\n")
            markup.lines(children) { node, markup in node.write(to: &markup) }
            markup.raw("\n</ul>\n")
        }
        if hasMore {
            markup.raw(#"<p class="more">"#)
            writeMore(children.isEmpty ? localized("List subcollections") : localized("All subcollections"), to: &markup)
            markup.raw("</p>")
        }
        markup.raw("</details>")
    }

    private func writeToggle(named name: String, to markup: inout Markup) {
        markup.raw(children == nil ? #"<details><summary aria-label=""# : #"<details open><summary aria-label=""#)
        markup.text(localized("Subcollections of {name}", ["name": name]))
        markup.raw(#""></summary>"#)
    }

    private func writeMore(_ text: String, to markup: inout Markup) {
        markup.raw(#"<a class="load" href=""#)
        markup.text(AdminURL.subcollections(of: path))
        markup.raw(#"">"#)
        markup.text(text)
        markup.raw("</a>")
    }
}
