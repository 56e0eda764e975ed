import HearthHTTP
import StrictJSON
import UTF8Text

/// The language and theme of the pages, stored in cookies and selected in the footer.
struct Preferences: Sendable {
    let language: Language
    let theme: Theme

    /// Reads the cookies. Without them, the language is the one that the browser prefers and the theme is the system's.
    init(cookies: Cookies, acceptLanguage: String?) {
        language =
            cookies["lang"].flatMap { Language(rawValue: $0.string) } ?? Language(accepted: acceptLanguage) ?? .english
        theme = cookies["theme"].flatMap { Theme(rawValue: $0.string) } ?? .automatic
    }

    /// Returns the cookies that store the selection of a form.
    static func cookies(for form: Form) -> [String] {
        let language = form["lang"].flatMap { Language(rawValue: $0.string) }.map { "lang=\($0.rawValue)" }
        let theme = form["theme"].flatMap { Theme(rawValue: $0.string) }.map { "theme=\($0.rawValue)" }
        // Not `Secure`: the values aren't secret and must also work over plain HTTP.
        return [language, theme].compactMap(\.self).map { "\($0); Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax" }
    }
}

/// The color theme.
enum Theme: String, CaseIterable, Sendable {
    /// The system's theme.
    case automatic = "auto"
    case light
    case dark

    /// The localized name.
    var name: String {
        switch self {
        case .automatic: localized("System")
        case .light: localized("Light")
        case .dark: localized("Dark")
        }
    }

    /// The value of CSS's `color-scheme`.
    var colorScheme: String { self == .automatic ? "light dark" : rawValue }
}
