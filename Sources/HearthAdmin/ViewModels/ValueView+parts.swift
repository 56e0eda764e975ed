import DocumentModel

/// A string too long to stand in full before it is asked for.
struct FoldedText: Sendable {
    /// Its first line or so.
    let beginning: DisplayText
    /// All of it.
    let whole: DisplayText
    /// How long it is, in words.
    let length: String
}

extension FoldedText {
    func write(to markup: inout Markup) {
        markup.raw(#"<details class="fold"><summary><span class="beginning">"#)
        beginning.write(to: &markup)
        markup.raw("</span> ")
        markup.note(length)
        markup.raw(#"</summary><div class="string" dir="auto" lang="">"#)
        whole.writeRuns(to: &markup)
        markup.raw("</div></details>")
    }
}

/// Bytes as their first few in hexadecimal and their number.
struct BytesView: Sendable {
    let hexadecimal: String
    let isCut: Bool
    let length: String

    init(_ bytes: [UInt8], limit: Int) {
        hexadecimal = bytes.prefix(limit).map { Hexadecimal.encode([$0]) }.joined(separator: " ")
        isCut = bytes.count > limit
        length = localized(count: bytes.count, one: "{count} byte", other: "{count} bytes")
    }
}

extension BytesView {
    func write(to markup: inout Markup) {
        markup.raw(#"<code class="hex">"#)
        markup.text(hexadecimal)
        if isCut { markup.raw(" …") }
        markup.raw("</code> ")
        markup.note(length)
    }
}

/// A geo point as coordinates.
struct PlaceView: Sendable {
    /// How much of it there is room for.
    enum Form: Sendable {
        /// As stored, and in degrees.
        case full
        /// Rounded, and in degrees.
        case listed
        /// Rounded.
        case short
    }

    /// As stored.
    private let exact: String
    private let decimal: String
    /// In degrees, minutes and seconds.
    private let degrees: String?

    init(_ point: GeoPoint, in form: Form) {
        exact = Coordinates.decimal(point)
        decimal = form == .full ? exact : Coordinates.rounded(point)
        degrees = form == .short ? nil : Coordinates.degrees(point)
    }
}

extension PlaceView {
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

extension PlaceView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "markup":
            var markup = Markup()
            write(to: &markup)
            return markup
        default: return nil
        }
    }
}

/// A vector as its first components and its dimension.
struct VectorView: Sendable {
    let beginning: String
    let isCut: Bool
    let dimensions: String

    init(_ components: [Double]) {
        let limit = 4
        beginning = components.prefix(limit).map(Number.text).joined(separator: ", ")
        isCut = components.count > limit
        dimensions = localized(count: components.count, one: "{count} dimension", other: "{count} dimensions")
    }
}

extension VectorView {
    func write(to markup: inout Markup) {
        markup.raw(#"<span class="number">["#)
        markup.text(beginning)
        markup.raw(isCut ? ", …]</span> " : "]</span> ")
        markup.note(dimensions)
    }
}

/// An array or map on one line: its first members, and how many more there are.
struct GroupView: Sendable {
    struct Member: Sendable {
        /// The key in a map.
        let key: DisplayText?
        let value: ValueView
    }

    let isMap: Bool
    let members: [Member]
    let more: Int
}

extension GroupView {
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
        if more > 0 { markup.note(localized("{more} more", ["more": Counting.grouped(more)])) }
        if members.isEmpty, more == 0 { markup.note(localized("empty")) }
        markup.raw("</span>")
    }
}
