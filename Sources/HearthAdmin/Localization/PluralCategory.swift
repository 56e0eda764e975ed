/// A plural category of CLDR's cardinal rules (UTS #35, part 3).
enum PluralCategory: String, Sendable {
    case one
    case few
    case many
    case other
}

extension Language {
    /// The plural categories of integers.
    var pluralCategories: [PluralCategory] {
        switch self {
        case .english, .bengali, .persian: [.one, .other]
        case .indonesian, .vietnamese: [.other]
        case .russian: [.one, .few, .many]
        }
    }

    /// Returns the plural category of an integer.
    func pluralCategory(of number: some BinaryInteger) -> PluralCategory {
        switch self {
        case .english: number.magnitude == 1 ? .one : .other
        case .bengali, .persian: number.magnitude <= 1 ? .one : .other
        case .indonesian, .vietnamese: .other
        case .russian:
            switch (number.magnitude % 10, number.magnitude % 100) {
            case (1, let end) where end != 11: .one
            case (2...4, let end) where !(12...14).contains(end): .few
            default: .many
            }
        }
    }
}
