import DocumentModel
import StrictJSON

/// What is edited: a document that is there, or one to be created.
struct EditTarget: Sendable {
    /// The document; nil for one that gets its ID with the form.
    let document: DocumentPath?
    let collection: CollectionPath
    /// What was typed as the ID of a new document.
    var id = ""

    init(_ document: DocumentPath) {
        self.document = document
        collection = document.collection
    }

    init(newIn collection: CollectionPath, id: String = "") {
        document = nil
        self.collection = collection
        self.id = id
    }

    /// The address of the editor.
    func url(asJSON: Bool) -> String {
        let action = document == nil ? "new" : "edit"
        return backURL + "?" + action + (asJSON ? "=json" : "")
    }

    /// The address of the page to go back to.
    var backURL: String {
        document.map { AdminURL.document($0) } ?? AdminURL.collection(collection)
    }

    /// The IDs on the way to it.
    var segments: [UTF8Key] {
        document?.segments ?? collection.segments
    }
}

/// What both editors have in common: what is edited, on what base, and what is wrong with what was typed.
struct EditFrame: Sendable {
    let target: EditTarget
    let base: EditBase
    var problems: FormProblems
    private let heading: PathHeading

    init(_ target: EditTarget, base: EditBase, problems: FormProblems = FormProblems()) {
        self.target = target
        self.base = base
        self.problems = problems
        heading = PathHeading(target.segments)
    }

    /// The same with what is wrong with what was typed.
    func with(_ problems: FormProblems) -> EditFrame {
        var frame = self
        frame.problems = problems
        return frame
    }

    /// The frame of the page.
    var chrome: PageChrome {
        var chrome = PageChrome(at: target.segments)
        let title = chrome.title
        chrome.title = target.document == nil ? localized("New document") : localized("Edit")
        chrome.title += " · " + title
        return chrome
    }
}

extension EditFrame: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "isNewDocument": target.document == nil
        case "base": base.text
        case "documentID": FormField("id", target.id, problems: problems)
        case "backURL": target.backURL
        case "problems", "hasProblems", "isOneProblem": problems.child(named: name)
        default: heading.child(named: name)
        }
    }
}
