extension [LinkView] {
    /// Links as items of a list.
    ///
    /// - Parameter current: What the one that leads to where the page is, is current as.
    func itemsMarkup(current: StaticString) -> Markup {
        Markup { markup in
            markup.lines(self) { link, markup in
                markup.raw("<li>")
                link.write(to: &markup, current: link.isCurrent ? current : nil)
                markup.raw("</li>")
            }
        }
    }
}

extension [Choice] {
    /// Choices as items of a list.
    ///
    /// - Parameter current: What the one that was made is current as.
    func itemsMarkup(current: StaticString) -> Markup {
        Markup { markup in
            markup.lines(self) { choice, markup in
                markup.raw(#"<li><a href=""#)
                markup.text(choice.url)
                markup.raw(#"""#)
                if choice.isCurrent { markup.current(current) }
                markup.raw(">")
                markup.text(choice.text)
                markup.raw("</a></li>")
            }
        }
    }
}

extension Markup {
    /// Writes the attribute that tells where in a list one is.
    mutating func current(_ kind: StaticString) {
        raw(#" aria-current=""#)
        raw(kind)
        raw(#"""#)
    }
}
