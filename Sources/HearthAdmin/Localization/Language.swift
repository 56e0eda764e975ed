import HearthHTTP

/// A language of the pages.
enum Language: String, CaseIterable, Sendable {
    case english = "en"
    case bengali = "bn"
    case indonesian = "id"
    case persian = "fa"
    case russian = "ru"
    case vietnamese = "vi"

    /// The language's name in the language itself.
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

    /// The writing direction, as the value of HTML's `dir`.
    var direction: String { self == .persian ? "rtl" : "ltr" }
}

extension Language {
    /// Selects the supported language with the highest weight in an `Accept-Language` header (RFC 9110, 12.5.4).
    ///
    /// Returns `nil` if the header is absent or has no supported language. A range with a region matches its language, such as
    /// `fa-IR` Persian; `*` matches English. Malformed ranges are ignored.
    ///
    /// - Parameter accepted: The header's value.
    init?(accepted: String?) {
        var best: (language: Language, weight: Int)?
        for element in HeaderListElement.list(accepted) {
            guard let language = Language(range: element.value),
                let weight = element.parameters.first.map(Self.thousandths) ?? 1_000, weight > best?.weight ?? 0
            else { continue }
            best = (language, weight)
        }
        guard let best else { return nil }
        self = best.language
    }

    private init?(range: [UInt8]) {
        let primary = range.prefix { $0 != UInt8(ascii: "-") }
        if range.elementsEqual("*".utf8) {
            self = .english
        } else if let language = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(primary) }) {
            self = language
        } else {
            return nil
        }
    }

    /// Parses a weight with at most three decimal places, such as `q=0.85`, in thousandths.
    private static func thousandths(_ parameter: (name: [UInt8], value: [UInt8])) -> Int? {
        guard parameter.name.elementsEqual("q".utf8) else { return nil }
        let digits = parameter.value
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
}
