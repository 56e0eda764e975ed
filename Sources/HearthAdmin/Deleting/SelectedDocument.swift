/// A document of a selection: its ID for a person, and what the form keeps of it.
struct SelectedDocument: Sendable {
    let version: Deletion.Version
}

extension SelectedDocument: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "link": LinkView(toRowOf: version.path)
        case "version": version.formText
        default: nil
        }
    }
}
