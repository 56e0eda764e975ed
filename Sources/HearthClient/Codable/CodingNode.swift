/// A value being encoded or decoded, with its position in the enclosing value.
protocol CodingNode: AnyObject {
    /// The enclosing value; `nil` at the root.
    var parent: Self? { get }
    /// The key in the enclosing value; `nil` at the root.
    var key: (any CodingKey)? { get }
}

extension CodingNode {
    /// The keys from the root to this value.
    var codingPath: [any CodingKey] {
        let path = parent?.codingPath ?? []
        return key.map { path + [$0] } ?? path
    }

    func codingPath(to key: (any CodingKey)?) -> [any CodingKey] {
        key.map { codingPath + [$0] } ?? codingPath
    }
}

/// A coding key for array indexes and arbitrary names.
enum AnyCodingKey: CodingKey {
    /// An array index, from 0. Its string value is computed on demand.
    case index(Int)
    /// A field name.
    case name(String)

    init(stringValue: String) {
        self = .name(stringValue)
    }

    init(intValue: Int) {
        self = .index(intValue)
    }

    var stringValue: String {
        switch self {
        case .index(let index): "Index \(index)"
        case .name(let name): name
        }
    }

    var intValue: Int? {
        if case .index(let index) = self { index } else { nil }
    }

    /// The default key for the superclass.
    static let `super` = AnyCodingKey.name("super")
}

/// Marks dictionaries with string keys, which are field names and exempt from key strategies.
protocol StringKeyedDictionary {}

extension Dictionary: StringKeyedDictionary where Key == String {}
