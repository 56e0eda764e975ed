import DocumentModel
import UTF8Text

/// Builds the view models of values, and collects the colors for the page's style sheet.
struct ValueViewBuilder: Sendable {
    /// The space available for a value.
    enum Presentation: Sendable {
        /// A table cell: one line, long values truncated.
        case cell
        /// A row of a document's page.
        case detail
    }

    /// The colors of the values built so far.
    private(set) var colors = ColorStyleSheet()

    /// Returns the view model of a value.
    mutating func view(of value: Value, in presentation: Presentation) -> ValueView {
        switch value {
        case .null: .null
        case .boolean(let value): .boolean(value)
        case .integer(let value): .number(value.description)
        case .double(let value): .number(NumberFormat.roundTrip(value))
        case .timestamp(let value): .time(TimeView(value))
        case .string(let value): view(of: value, in: presentation)
        case .bytes(let value): .bytes(BytesView(value, limit: presentation == .cell ? 8 : 32))
        case .reference(let path): .reference(LinkView(url: AdminURL.document(path), text: DisplayText(path.string)))
        case .geoPoint(let point): .geoPoint(GeoPointView(point, detail: presentation == .detail ? .full : .short))
        case .vector(let components): .vector(VectorView(components))
        case .array, .map: container(of: value)
        }
    }

    private mutating func view(of string: String, in presentation: Presentation) -> ValueView {
        if let chip = ColorChip(string) {
            colors.insert(chip.color)
            return .color(chip)
        }
        if string.utf8.isEmpty { return .summary(localized("empty string")) }
        if let link = ExternalLink(string, textLimit: presentation == .cell ? Self.cellLinkLength : .max) {
            guard ImageOrigins.current.allowsImage(of: link) else { return .link(link) }
            return .image(ThumbnailView(link: link, isLarge: presentation == .detail))
        }
        switch presentation {
        case .cell:
            return .text(DisplayText(truncating: string, toScalars: Self.cellLength))
        case .detail:
            let truncated = string.truncated(toScalars: Self.detailLength)
            guard truncated.isTruncated else { return .text(DisplayText(string, lines: .multiple)) }
            return .collapsed(
                CollapsedText(
                    prefix: DisplayText(truncated),
                    full: DisplayText(string, lines: .multiple),
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
    private static let detailLength = 400
}

extension ValueViewBuilder {
    /// Returns an array or map on one line: enough of it to be recognized.
    private mutating func container(of value: Value) -> ValueView {
        var budget = Self.containerBudget
        return containerMember(value, level: 1, budget: &budget)
    }

    private mutating func containerMember(_ value: Value, level: Int, budget: inout Int) -> ValueView {
        switch value {
        case .map(let map) where level > Self.containerDepth: return .summary(Self.summary(of: map))
        case .array(let elements) where level > Self.containerDepth: return .summary(Self.summary(of: elements))
        case .map(let map):
            let members = containerMembers(map.lazy.map { ($0.key, $0.value) }, level: level, budget: &budget)
            return .container(ContainerView(isMap: true, members: members, omittedCount: map.count - members.count))
        case .array(let elements):
            let members = containerMembers(elements.lazy.map { (nil, $0) }, level: level, budget: &budget)
            return .container(ContainerView(isMap: false, members: members, omittedCount: elements.count - members.count))
        default:
            budget -= 1
            return view(of: value, in: .cell)
        }
    }

    private mutating func containerMembers(
        _ contents: some Sequence<(key: UTF8Key?, value: Value)>,
        level: Int,
        budget: inout Int
    ) -> [ContainerView.Member] {
        var members: [ContainerView.Member] = []
        for (key, value) in contents {
            guard budget > 0 else { break }
            let key = key.map { DisplayText($0.string.truncated(toScalars: Self.cellLength).text) }
            members.append(ContainerView.Member(key: key, value: containerMember(value, level: level + 1, budget: &budget)))
        }
        return members
    }

    /// Returns the number of fields of a map, in words.
    static func summary(of map: MapValue) -> String {
        localized(count: map.count, one: "{count} field", other: "{count} fields")
    }

    /// Returns the number of elements of an array, in words.
    static func summary(of elements: [Value]) -> String {
        localized(count: elements.count, one: "{count} element", other: "{count} elements")
    }

    private static let containerBudget = 12
    private static let containerDepth = 3
}
