import DocumentModel

/// The differences between the fields of two versions of a document, in path order.
struct FieldDiff: Sendable {
    /// A field or array element that was added, removed or modified.
    struct Change: Sendable {
        let path: String
        let before: Value?
        let after: Value?
    }

    private(set) var changes: [Change] = []
    /// The number of changes, including those beyond the limit.
    private(set) var count = 0

    private static let limit = 100

    init(from before: MapValue, to after: MapValue) {
        compare(before, after, in: nil)
    }

    private mutating func compare(_ before: MapValue, _ after: MapValue, in parent: String?) {
        let names = MapValue((Array(before) + Array(after)).map { (key: $0.key, value: Value.null) }).keys
        for name in names {
            compare(before[name], after[name], at: ElementPath.appending(name, to: parent))
        }
    }

    private mutating func compare(_ before: Value?, _ after: Value?, at path: String) {
        guard before != after else { return }
        switch (before, after) {
        case (.map(let before)?, .map(let after)?): compare(before, after, in: path)
        case (.array(let before)?, .array(let after)?):
            for index in 0..<max(before.count, after.count) {
                let (old, new) = (index < before.count ? before[index] : nil, index < after.count ? after[index] : nil)
                compare(old, new, at: ElementPath.appending(index, to: path))
            }
        default:
            count += 1
            if changes.count < Self.limit { changes.append(Change(path: path, before: before, after: after)) }
        }
    }
}
