import HearthService
import StrictJSON

/// What pages say of who asks: whether there are keys, with which one the browser has signed in, and how it leaves.
struct Account: Sendable {
    private let isOpen: Bool
    /// What the key is for, or its ID.
    private let name: DisplayText?
    private let role: String
    private let hasSession: Bool
    /// Whether the session is sent without TLS.
    private let isPlain: Bool

    /// Of a page for nobody in particular.
    init() {
        (isOpen, name, role, hasSession, isPlain) = (false, nil, "", false, false)
    }

    init(_ visitor: Visitor, keys: AccessKeys) {
        isOpen = visitor.caller.identity == .anybody
        let key = visitor.caller.keyID.flatMap { id in keys.all.first { $0.id == id } }
        name = key.map { DisplayText($0.name.shortened(scalars: 40)) }
        role = visitor.caller.role.rawValue
        hasSession = visitor.session != nil
        isPlain = visitor.session.map { !$0.isSecure } ?? false
    }
}

extension Account: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "isOpen": isOpen
        case "keyName": self.name.orAbsent
        case "role": role
        case "hasSession": hasSession
        case "isPlain": isPlain
        case "signOutURL": AdminURL.signOut
        default: nil
        }
    }
}

extension AccessKey {
    /// What the key is for, as far as somebody has said that; else its ID.
    var name: String { label.utf8.isEmpty ? id.string : label }
}
