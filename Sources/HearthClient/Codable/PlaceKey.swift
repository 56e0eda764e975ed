/// A coding key for places that have none of their own.
enum PlaceKey: CodingKey {
    /// An element of an array, counted from 0. Its text is made only when somebody asks for it.
    case index(Int)
    /// A name.
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

    /// What a superclass encodes when it is given no key.
    static let `super` = PlaceKey.name("super")
}
