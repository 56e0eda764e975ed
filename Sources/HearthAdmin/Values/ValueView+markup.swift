import DocumentModel

extension ValueView {
    /// Writes the value.
    func write(to markup: inout Markup) {
        switch self {
        case .null: markup.raw(#"<span class="null">null</span>"#)
        case .boolean(let value): markup.raw(value ? "true" : "false")
        case .number(let text): markup.number(text)
        case .time(let view): view.write(to: &markup)
        case .text(let text): text.write(to: &markup, opening: #"<bdi class="string" lang="">"#)
        case .collapsed(let text): text.write(to: &markup)
        case .color(let chip): chip.write(to: &markup)
        case .link(let link): link.write(to: &markup)
        case .image(let view): view.write(to: &markup)
        case .bytes(let view): view.write(to: &markup)
        case .reference(let link): link.write(to: &markup, opening: #"<a class="reference" href=""#)
        case .geoPoint(let view): view.write(to: &markup)
        case .vector(let view): view.write(to: &markup)
        case .container(let view): view.write(to: &markup)
        case .summary(let text): markup.note(text)
        }
    }
}

extension ValueView: MarkupConvertible {
    var markup: Markup { Markup(write) }
}

extension Markup {
    /// Writes a number, whose direction is left to right.
    mutating func number(_ text: String) {
        raw(#"<span class="number">"#)
        self.text(text)
        raw("</span>")
    }

    /// Writes a remark about a value.
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

extension ColorChip: MarkupConvertible {
    var markup: Markup { Markup(write) }

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

extension ThumbnailView {
    func write(to markup: inout Markup) {
        link.write(to: &markup) { markup in
            markup.raw(#"<img class="thumbnail" src=""#)
            markup.text(link.url)
            markup.raw(#"" alt=""#)
            markup.text(localized("Image"))
            // The size is fixed, so that nothing moves when the image arrives.
            let size: StaticString = isLarge ? #"width="96" height="96""# : #"width="24" height="24""#
            markup.raw(#"" "#)
            markup.raw(size)
            markup.raw(#" loading="lazy" decoding="async" referrerpolicy="no-referrer">"#)
        }
    }
}

extension ExternalLink {
    /// - Parameter beforeText: Writes what the link shows before its text.
    func write(to markup: inout Markup, beforeText: (inout Markup) -> Void = { _ in }) {
        markup.raw(#"<a class="external" href=""#)
        markup.text(url)
        markup.raw(#"" rel="noreferrer noopener">"#)
        beforeText(&markup)
        markup.raw(#"<bdi dir="ltr">"#)
        markup.text(text)
        markup.raw("</bdi></a>")
    }
}

extension LinkView {
    /// - Parameters:
    ///   - opening: The start tag up to the value of `href`.
    ///   - current: The `aria-current` value; `nil` for a link to another page.
    func write(to markup: inout Markup, opening: StaticString = #"<a href=""#, current: StaticString? = nil) {
        markup.raw(opening)
        markup.text(url)
        markup.raw(#"""#)
        if let current { markup.ariaCurrent(current) }
        markup.raw(">")
        text.write(to: &markup)
        markup.raw("</a>")
    }
}

extension CollapsedText {
    func write(to markup: inout Markup) {
        markup.raw(#"<details class="fold"><summary><span class="beginning">"#)
        prefix.write(to: &markup)
        markup.raw("</span> ")
        markup.note(length)
        markup.raw(#"</summary><div class="string" dir="auto" lang="">"#)
        full.writeRuns(to: &markup)
        markup.raw("</div></details>")
    }
}

extension BytesView {
    func write(to markup: inout Markup) {
        markup.raw(#"<code class="hex">"#)
        markup.text(hexadecimal)
        if isTruncated { markup.raw(" …") }
        markup.raw("</code> ")
        markup.note(length)
    }
}

extension GeoPointView {
    func write(to markup: inout Markup) {
        markup.number(decimal)
        guard let degrees else { return }
        markup.raw(#" <span class="note" dir="ltr">"#)
        markup.text(degrees)
        markup.raw(#"</span> <button type="button" class="copy" data-copy=""#)
        markup.text(exact)
        markup.raw(#"" aria-label=""#)
        markup.text(localized("Copy coordinates"))
        markup.raw(#"" hidden>"#)
        markup.text(localized("Copy"))
        markup.raw("</button>")
    }
}

extension GeoPointView: MarkupConvertible {
    var markup: Markup { Markup(write) }
}

extension VectorView {
    func write(to markup: inout Markup) {
        markup.raw(#"<span class="number">["#)
        markup.text(prefix)
        markup.raw(isTruncated ? ", …]</span> " : "]</span> ")
        markup.note(dimensions)
    }
}

extension ContainerView {
    func write(to markup: inout Markup) {
        markup.raw(isMap ? #"<span class="group map">"# : #"<span class="group array">"#)
        for member in members {
            markup.raw(#"<span class="member">"#)
            if let key = member.key {
                key.write(to: &markup, opening: #"<span class="key"><bdi lang="">"#)
                markup.raw("</span> ")
            }
            member.value.write(to: &markup)
            markup.raw("</span> ")
        }
        if omittedCount > 0 { markup.note(localized("{more} more", ["more": NumberFormat.grouped(omittedCount)])) }
        if members.isEmpty, omittedCount == 0 { markup.note(localized("empty")) }
        markup.raw("</span>")
    }
}
