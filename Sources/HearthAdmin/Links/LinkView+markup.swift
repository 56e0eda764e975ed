extension [NavigationLink] {
    /// Returns links as list items.
    ///
    /// - Parameter current: The `aria-current` value of the current link.
    func itemsMarkup(current: StaticString) -> Markup {
        Markup { markup in
            markup.lines(self) { item, markup in
                markup.raw("<li>")
                item.link.write(to: &markup, current: item.isCurrent ? current : nil)
                markup.raw("</li>")
            }
        }
    }
}

extension [LinkOption] {
    /// Returns options as list items.
    ///
    /// - Parameter current: The `aria-current` value of the selected option.
    func itemsMarkup(current: StaticString) -> Markup {
        Markup { markup in
            markup.lines(self) { option, markup in
                markup.raw(#"<li><a href=""#)
                markup.text(option.url)
                markup.raw(#"""#)
                if option.isCurrent { markup.ariaCurrent(current) }
                markup.raw(">")
                markup.text(option.text)
                markup.raw("</a></li>")
            }
        }
    }
}

extension Markup {
    /// Writes the `aria-current` attribute.
    mutating func ariaCurrent(_ kind: StaticString) {
        raw(#" aria-current=""#)
        raw(kind)
        raw(#"""#)
    }
}
