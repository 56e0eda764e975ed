/// A link with its text.
struct LinkView: Sendable {
    let url: String
    let text: DisplayText
}

extension LinkView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "url": url
        case "text": text
        default: nil
        }
    }
}
