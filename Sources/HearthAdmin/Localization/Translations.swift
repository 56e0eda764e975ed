import UTF8Text

/// The translations of the strings on pages into one language, by English string.
///
/// Strings are translated into the language of the current page:
///
/// ```swift
/// localized("Last commit")
/// localized("Showing the first {shown} of {total} geo points.", ["shown": "1,000", "total": "2,345"])
/// localized(count: documents.count, one: "{count} document", other: "{count} documents")
/// ```
struct Translations: Sendable {
    /// A translated string.
    enum Entry: Sendable {
        case text(String)
        /// The plural forms of a string with a number.
        case plural([PluralCategory: String])
    }

    let language: Language
    /// The translations by English string; the key of a plural is its English form for `other`.
    var entries: [UTF8Key: Entry] = [:]

    /// The translations for the page being rendered.
    @TaskLocal static var current = Translations(language: .english)

    /// Returns the translation of a string, or the English string if there is none.
    func text(_ english: String) -> String {
        guard case .text(let text) = entries[UTF8Key(english)] else { return english }
        return text
    }

    /// Returns the translated plural form for a number, or the English form when there is no translation.
    func text(count: some BinaryInteger, one: String, other: String) -> String {
        guard case .plural(let forms) = entries[UTF8Key(other)], let form = forms[language.pluralCategory(of: count)] else {
            return Language.english.pluralCategory(of: count) == .one ? one : other
        }
        return form
    }
}

/// Returns a string in the language of the page.
///
/// - Parameters:
///   - text: The English string, with variables in braces.
///   - variables: The values of the variables. Don't insert stored data: templates show it inside `<bdi>`.
func localized(_ text: StaticString, _ variables: KeyValuePairs<StaticString, String> = [:]) -> String {
    substitute(Translations.current.text(text.description), with: variables)
}

/// Returns the plural form of a string for a number, in the language of the page.
///
/// - Parameters:
///   - count: The number; it replaces `{count}`, formatted for the language.
///   - one: The English singular.
///   - other: The English plural.
///   - variables: The values of other variables.
func localized(
    count: some BinaryInteger,
    one: StaticString,
    other: StaticString,
    _ variables: KeyValuePairs<StaticString, String> = [:]
) -> String {
    let text = Translations.current.text(count: count, one: one.description, other: other.description)
    return substitute(substitute(text, with: ["count": NumberFormat.grouped(count)]), with: variables)
}

/// Substitutes the variables in text; unknown variables stay unchanged.
private func substitute(_ text: String, with variables: KeyValuePairs<StaticString, String>) -> String {
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
