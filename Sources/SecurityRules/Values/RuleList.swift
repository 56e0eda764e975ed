internal import DocumentModel
internal import UTF8Text

/// A list: the elements of a stored array, or values that rules computed.
package struct RuleList: Sendable {
    private enum Storage: Sendable {
        case stored([Value], database: UTF8Key)
        case computed(Computed)
    }

    /// Values that rules computed, with what would take long to find out again.
    private final class Computed: Sendable {
        let elements: [RuleValue]
        let isConcrete: Bool
        let weight: Int

        init(_ elements: [RuleValue]) {
            self.elements = elements
            isConcrete = elements.allSatisfy(\.isConcrete)
            weight = elements.reduce(1) { $0 + $1.weight }
        }
    }

    private let storage: Storage

    /// Creates the list of a stored array.
    init(_ elements: [Value], in database: UTF8Key) {
        storage = .stored(elements, database: database)
    }

    /// Creates a list of values.
    package init(_ elements: [RuleValue]) {
        storage = .computed(Computed(elements))
    }

    /// False if only facts are known of an element.
    var isConcrete: Bool {
        switch storage {
        case .stored: true
        case .computed(let list): list.isConcrete
        }
    }

    /// The work of reading the whole list.
    var weight: Int {
        switch storage {
        case .stored(let elements, _): elements.weight
        case .computed(let list): list.weight
        }
    }

    /// The number of elements.
    var count: Int {
        switch storage {
        case .stored(let elements, _): elements.count
        case .computed(let list): list.elements.count
        }
    }

    /// The element at a valid index.
    subscript(index: Int) -> RuleValue {
        switch storage {
        case .stored(let elements, let database): RuleValue(elements[index], in: database)
        case .computed(let list): list.elements[index]
        }
    }

    /// The elements.
    var elements: [RuleValue] {
        switch storage {
        case .stored(let elements, let database): elements.map { RuleValue($0, in: database) }
        case .computed(let list): list.elements
        }
    }

    /// Returns the elements of a valid range.
    func slice(_ range: Range<Int>) -> RuleList {
        RuleList(range.map { self[$0] })
    }
}

extension RuleList: Hashable {
    /// Returns whether both have the same elements in the same order.
    package static func == (left: RuleList, right: RuleList) -> Bool {
        left.count == right.count && (0..<left.count).allSatisfy { left[$0] == right[$0] }
    }

    /// Hashes the elements.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for index in 0..<count { hasher.combine(self[index]) }
    }
}
