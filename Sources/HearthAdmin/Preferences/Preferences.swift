import HearthService
import StrictJSON

/// How a reader wants pages to be: kept in cookies, chosen at the foot of each page.
struct Preferences: Sendable {
    let language: Language
    let theme: Theme

    /// Takes what the cookies say; else the language that the browser prefers, and the colours of the system.
    init(cookies: Cookies, acceptedLanguages: String?) {
        language =
            cookies["lang"].flatMap { Language(rawValue: $0.string) } ?? Language(accepted: acceptedLanguages) ?? .english
        theme = cookies["theme"].flatMap { Theme(rawValue: $0.string) } ?? .automatic
    }

    /// The cookies that keep what a form asks for.
    static func cookies(for form: Form) -> [String] {
        let language = form["lang"].flatMap { Language(rawValue: $0.string) }.map { "lang=\($0.rawValue)" }
        let theme = form["theme"].flatMap { Theme(rawValue: $0.string) }.map { "theme=\($0.rawValue)" }
        // They are no secret, and work over plain HTTP too.
        return [language, theme].compactMap(\.self).map { "\($0); Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax" }
    }
}
