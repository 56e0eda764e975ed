/// A language that the pages are written in.
enum Language: String, CaseIterable, Sendable {
    case english = "en"
    case bengali = "bn"
    case indonesian = "id"
    case persian = "fa"
    case russian = "ru"
    case vietnamese = "vi"

    /// What the language calls itself.
    var name: String {
        switch self {
        case .english: "English"
        case .bengali: "বাংলা"
        case .indonesian: "Bahasa Indonesia"
        case .persian: "فارسی"
        case .russian: "Русский"
        case .vietnamese: "Tiếng Việt"
        }
    }

    /// Where its lines begin, as HTML's `dir` says it.
    var direction: String { self == .persian ? "rtl" : "ltr" }
}

extension Language {
    /// Takes the language that suits a reader best: the one of highest weight in `Accept-Language` (RFC 9110, 12.5.4) that there is.
    ///
    /// A range of a region stands for its language, `fa-IR` for Persian, and `*` for English. What can't be read is passed over.
    ///
    /// - Parameter accepted: The header; nil, as where none of its languages is there, gives nil.
    init?(accepted: String?) {
        var best: (language: Language, weight: Int)?
        for item in (accepted ?? "").utf8.split(separator: UInt8(ascii: ",")) {
            let parts = item.split(separator: UInt8(ascii: ";")).map(Self.trimmed)
            guard let range = parts.first, let language = Language(range: range) else { continue }
            guard let weight = parts.count > 1 ? Self.thousandths(parts[1]) : 1_000, weight > best?.weight ?? 0 else { continue }
            best = (language, weight)
        }
        guard let best else { return nil }
        self = best.language
    }

    private init?(range: Substring.UTF8View) {
        let primary = range.prefix { $0 != UInt8(ascii: "-") }.map { $0 | 0x20 }
        if range.elementsEqual("*".utf8) {
            self = .english
        } else if let language = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(primary) }) {
            self = language
        } else {
            return nil
        }
    }

    /// A weight of at most three decimals, `q=0.85`.
    private static func thousandths(_ parameter: Substring.UTF8View) -> Int? {
        guard let name = parameter.first, name | 0x20 == UInt8(ascii: "q"), parameter.dropFirst().first == UInt8(ascii: "=")
        else {
            return nil
        }
        let digits = parameter.dropFirst(2)
        guard let whole = digits.first, (UInt8(ascii: "0")...UInt8(ascii: "1")).contains(whole), digits.count <= 5 else {
            return nil
        }
        let decimals = digits.dropFirst(2)
        guard digits.count == 1 || digits.dropFirst().first == UInt8(ascii: "."),
            decimals.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        let value = [whole] + decimals + [UInt8](repeating: UInt8(ascii: "0"), count: 3 - decimals.count)
        let number = value.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        return number <= 1_000 ? number : nil
    }

    private static func trimmed(_ part: Substring.UTF8View) -> Substring.UTF8View {
        let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let start = part.drop(while: isBlank)
        let end = start.lastIndex { !isBlank($0) }.map { start.index(after: $0) } ?? start.startIndex
        return start[..<end]
    }
}
