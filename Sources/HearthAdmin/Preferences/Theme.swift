/// Which colours a reader wants.
enum Theme: String, CaseIterable, Sendable {
    /// Those of the reader's system.
    case automatic = "auto"
    case light
    case dark

    /// The name in the language of the page.
    var name: String {
        switch self {
        case .automatic: localized("As the system")
        case .light: localized("Light")
        case .dark: localized("Dark")
        }
    }

    /// The value of CSS's `color-scheme`.
    var colorScheme: String { self == .automatic ? "light dark" : rawValue }
}
