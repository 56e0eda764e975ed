/// A choice among several, one of which is made: a view of a page, a page size.
struct Choice: Sendable {
    let text: String
    let url: String
    let isCurrent: Bool
}

extension Choice: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "text": text
        case "url": url
        case "isCurrent": isCurrent
        default: nil
        }
    }
}
