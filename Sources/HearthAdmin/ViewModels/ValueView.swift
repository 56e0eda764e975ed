/// A value as a page shows it: which template draws it, and what the template sees.
indirect enum ValueView: Sendable {
    case null
    case boolean(Bool)
    case number(String)
    case time(TimeView)
    case text(DisplayText)
    case folded(FoldedText)
    case color(ColorChip)
    case link(WebLink)
    case bytes(BytesView)
    case reference(LinkView)
    case place(PlaceView)
    case vector(VectorView)
    /// An array or map on one line.
    case group(GroupView)
    /// An array or map whose contents stand elsewhere: how much it holds.
    case extent(String)

    /// The templates of all cases.
    static let templates = [
        "null", "plain", "number", "time", "text", "folded", "color", "link", "bytes", "reference", "place", "vector", "group",
        "extent",
    ].map { "value/\($0)" }

    private var template: String {
        switch self {
        case .null: "value/null"
        case .boolean: "value/plain"
        case .number: "value/number"
        case .time: "value/time"
        case .text: "value/text"
        case .folded: "value/folded"
        case .color: "value/color"
        case .link: "value/link"
        case .bytes: "value/bytes"
        case .reference: "value/reference"
        case .place: "value/place"
        case .vector: "value/vector"
        case .group: "value/group"
        case .extent: "value/extent"
        }
    }

    private var content: any Sendable {
        switch self {
        case .null: Absent()
        case .boolean(let value): value ? "true" : "false"
        case .number(let text), .extent(let text): text
        case .time(let view): view
        case .text(let text): text
        case .folded(let text): text
        case .color(let chip): chip
        case .link(let link): link
        case .bytes(let view): view
        case .reference(let link): link
        case .place(let view): view
        case .vector(let view): view
        case .group(let view): view
        }
    }
}

extension ValueView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "template": template
        case "content": content
        default: nil
        }
    }
}
