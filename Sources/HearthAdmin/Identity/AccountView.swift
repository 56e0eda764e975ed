import HearthAPI
import UTF8Text

/// The account section in the layout of every page: the API key, its role and the sign-out button.
struct AccountView: ViewModel {
    /// True if the server has no keys and therefore grants everyone full access.
    private let isUnprotected: Bool
    /// True if the server is in emulator mode.
    private let isEmulator: Bool
    private let keyName: DisplayText?
    private let role: String
    private let hasSession: Bool
    /// True if the session cookie is sent without TLS.
    private let isInsecure: Bool
    private let signOutURL = AdminURL.signOut

    init(_ principal: Principal, keys: APIKeyRegistry, isEmulator: Bool) {
        self.isEmulator = isEmulator
        isUnprotected = principal.caller.identity == .openAccess && !isEmulator
        let key = principal.caller.keyID.flatMap { id in keys.all.first { $0.id == id } }
        keyName = key.map { DisplayText($0.name.truncatingMiddle(toScalars: 40)) }
        role = principal.caller.role.rawValue
        hasSession = principal.session != nil
        isInsecure = principal.session.map { !$0.isSecure } ?? false
    }
}

extension APIKey {
    /// The label of the key, or its ID when it has no label.
    var name: String { label.utf8.isEmpty ? id.string : label }
}
