import StrictJSON

/// The pages' texts in one language: translations by their English text.
///
/// What is written while a page is made speaks the language of the page:
///
/// ```swift
/// localized("Last commit")
/// localized("The first {shown} of {total} places here are shown.", ["shown": "1,000", "total": "2,345"])
/// localized(count: documents.count, one: "{count} document", other: "{count} documents")
/// ```
struct Texts: Sendable {
    /// A text in another language.
    enum Translation: Sendable {
        case text(String)
        /// A text with a number, in a form for each kind of number.
        case forms([PluralCategory: String])
    }

    let language: Language
    /// By the English text; of one with a number, by its form for several.
    var translations: [UTF8Key: Translation] = [:]

    /// Those of the page that is being made.
    @TaskLocal static var current = Texts(language: .english)

    /// A text in this language; in English where it has no translation.
    func text(_ english: String) -> String {
        guard case .text(let text) = translations[UTF8Key(english)] else { return english }
        return text
    }

    /// A text with a number in this language; in English where it has no translation.
    func text(count: some BinaryInteger, one: String, other: String) -> String {
        guard case .forms(let forms) = translations[UTF8Key(other)], let form = forms[language.pluralCategory(of: count)] else {
            return Language.english.pluralCategory(of: count) == .one ? one : other
        }
        return form
    }
}

/// A text in the language of the page.
///
/// - Parameters:
///   - text: The English text, with its variables in braces.
///   - variables: What to put in place of the variables. Data of others has no place here: a template shows it within `<bdi>`.
func localized(_ text: StaticString, _ variables: KeyValuePairs<StaticString, String> = [:]) -> String {
    fill(Texts.current.text(text.description), with: variables)
}

/// A text with a number in the language of the page, in the form that the number asks for.
///
/// - Parameters:
///   - count: The number; it is put in place of `{count}`, as the language writes numbers.
///   - one: The English text for one.
///   - other: The English text for all other numbers.
///   - variables: What to put in place of other variables.
func localized(
    count: some BinaryInteger,
    one: StaticString,
    other: StaticString,
    _ variables: KeyValuePairs<StaticString, String> = [:]
) -> String {
    let text = Texts.current.text(count: count, one: one.description, other: other.description)
    return fill(fill(text, with: ["count": Counting.grouped(count)]), with: variables)
}

/// Puts values in place of the variables of a text; those that it doesn't name stay.
private func fill(_ text: String, with variables: KeyValuePairs<StaticString, String>) -> String {
    guard !variables.isEmpty else { return text }
    var result: [UInt8] = []
    var rest = text.utf8[...]
    while let start = rest.firstIndex(of: UInt8(ascii: "{")), let end = rest[start...].firstIndex(of: UInt8(ascii: "}")) {
        let name = rest[rest.index(after: start)..<end]
        let value = variables.first { $0.key.description.utf8.elementsEqual(name) }?.value
        let next = rest.index(after: end)
        result += rest[..<start]
        result += value.map { Array($0.utf8) } ?? Array(rest[start..<next])
        rest = rest[next...]
    }
    return String(decoding: result + rest, as: UTF8.self)
}
