import DocumentModel
import StrictJSON

/// Makes values ready for a page, and gathers the colours that the page's styles must hold.
struct ValueViewBuilder: Sendable {
    /// How much room there is.
    enum Room: Sendable {
        /// A cell of a table: one line, long values cut.
        case cell
        /// A line of its own on the page of the document.
        case line
    }

    /// The colours met so far.
    private(set) var colors = ColorStyles()

    /// A value as a page shows it.
    mutating func view(of value: Value, in room: Room) -> ValueView {
        switch value {
        case .null: .null
        case .boolean(let value): .boolean(value)
        case .integer(let value): .number(value.description)
        case .double(let value): .number(Number.text(value))
        case .timestamp(let value): .time(TimeView(value))
        case .string(let value): view(of: value, in: room)
        case .bytes(let value): .bytes(BytesView(value, limit: room == .cell ? 8 : 32))
        case .reference(let path): .reference(LinkView(url: AdminURL.document(path), text: DisplayText(path.string)))
        case .geoPoint(let point): .place(PlaceView(point, in: room == .line ? .full : .short))
        case .vector(let components): .vector(VectorView(components))
        case .array, .map: group(of: value)
        }
    }

    private mutating func view(of string: String, in room: Room) -> ValueView {
        if let chip = ColorChip(string) {
            colors.insert(chip.color)
            return .color(chip)
        }
        if string.utf8.isEmpty { return .extent(localized("empty string")) }
        if let link = WebLink(string, textLimit: room == .cell ? Self.cellLinkLength : .max) { return .link(link) }
        switch room {
        case .cell:
            return .text(DisplayText(beginningOf: string, scalars: Self.cellLength))
        case .line:
            let beginning = string.beginning(scalars: Self.lineLength)
            guard beginning.isCut else { return .text(DisplayText(string, lines: .multiple)) }
            return .folded(
                FoldedText(
                    beginning: DisplayText(beginning),
                    whole: DisplayText(string, lines: .multiple),
                    length: localized(
                        count: string.unicodeScalars.count,
                        one: "{count} character",
                        other: "{count} characters"
                    )
                )
            )
        }
    }

    private static let cellLength = 80
    private static let cellLinkLength = 36
    private static let lineLength = 400
}

extension ValueViewBuilder {
    /// An array or map on one line: enough of it to know it again, and every colour in sight.
    private mutating func group(of value: Value) -> ValueView {
        var budget = Self.groupSize
        return groupMember(value, level: 1, budget: &budget)
    }

    private mutating func groupMember(_ value: Value, level: Int, budget: inout Int) -> ValueView {
        switch value {
        case .map(let map) where level > Self.groupDepth: return .extent(Self.extent(of: map))
        case .array(let elements) where level > Self.groupDepth: return .extent(Self.extent(of: elements))
        case .map(let map):
            let members = groupMembers(map.lazy.map { ($0.key, $0.value) }, level: level, budget: &budget)
            return .group(GroupView(isMap: true, members: members, more: map.count - members.count))
        case .array(let elements):
            let members = groupMembers(elements.lazy.map { (nil, $0) }, level: level, budget: &budget)
            return .group(GroupView(isMap: false, members: members, more: elements.count - members.count))
        default:
            budget -= 1
            return view(of: value, in: .cell)
        }
    }

    private mutating func groupMembers(
        _ contents: some Sequence<(key: UTF8Key?, value: Value)>,
        level: Int,
        budget: inout Int
    ) -> [GroupView.Member] {
        var members: [GroupView.Member] = []
        for (key, value) in contents {
            guard budget > 0 else { break }
            let key = key.map { DisplayText($0.string.beginning(scalars: Self.cellLength).text) }
            members.append(GroupView.Member(key: key, value: groupMember(value, level: level + 1, budget: &budget)))
        }
        return members
    }

    /// How much a map holds, in words.
    static func extent(of map: MapValue) -> String {
        localized(count: map.count, one: "{count} field", other: "{count} fields")
    }

    /// How much an array holds, in words.
    static func extent(of elements: [Value]) -> String {
        localized(count: elements.count, one: "{count} element", other: "{count} elements")
    }

    private static let groupSize = 12
    private static let groupDepth = 3
}
