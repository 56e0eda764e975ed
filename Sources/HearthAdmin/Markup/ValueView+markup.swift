import DocumentModel

extension ValueView {
    /// Writes the value as a page shows it.
    func write(to markup: inout Markup) {
        switch self {
        case .null: markup.raw(#"<span class="null">null</span>"#)
        case .boolean(let value): markup.raw(value ? "true" : "false")
        case .number(let text): markup.number(text)
        case .time(let view): view.write(to: &markup)
        case .text(let text): text.write(to: &markup, opening: #"<bdi class="string" lang="">"#)
        case .folded(let text): text.write(to: &markup)
        case .color(let chip): chip.write(to: &markup)
        case .link(let link): link.write(to: &markup)
        case .bytes(let view): view.write(to: &markup)
        case .reference(let link): link.write(to: &markup, opening: #"<a class="reference" href=""#)
        case .place(let view): view.write(to: &markup)
        case .vector(let view): view.write(to: &markup)
        case .group(let view): view.write(to: &markup)
        case .extent(let text): markup.note(text)
        }
    }
}

extension ValueView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "markup": Markup(write)
        default: nil
        }
    }
}

extension Markup {
    /// Writes a number, which stands from left to right.
    mutating func number(_ text: String) {
        raw(#"<span class="number">"#)
        self.text(text)
        raw("</span>")
    }

    /// Writes what is said about a value.
    mutating func note(_ text: String) {
        raw(#"<span class="note">"#)
        self.text(text)
        raw("</span>")
    }
}

extension TimeView {
    func write(to markup: inout Markup) {
        markup.raw(#"<time dir="ltr" datetime=""#)
        markup.text(machine)
        markup.raw(#"">"#)
        markup.text(text)
        markup.raw("</time>")
    }
}

extension ColorChip {
    func write(to markup: inout Markup) {
        markup.raw(#"<span class="chip "#)
        markup.text(className)
        markup.raw(#"">"#)
        if !color.isOpaque { markup.raw(#"<span class="swatch"></span>"#) }
        markup.raw("<bdi>")
        markup.text(text)
        markup.raw("</bdi></span>")
    }
}

extension WebLink {
    func write(to markup: inout Markup) {
        markup.raw(#"<a class="away" href=""#)
        markup.text(url)
        markup.raw(#"" rel="noreferrer noopener"><bdi dir="ltr">"#)
        markup.text(text)
        markup.raw("</bdi></a>")
    }
}

extension LinkView {
    /// - Parameters:
    ///   - opening: The tag up to its address.
    ///   - current: What the link is current as; nil when it leads elsewhere.
    func write(to markup: inout Markup, opening: StaticString = #"<a href=""#, current: StaticString? = nil) {
        markup.raw(opening)
        markup.text(url)
        markup.raw(#"""#)
        if let current { markup.current(current) }
        markup.raw(">")
        text.write(to: &markup)
        markup.raw("</a>")
    }
}
