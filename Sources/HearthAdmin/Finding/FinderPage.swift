import DocumentModel
import HTTPTypes

/// The results of the search box.
struct FinderPage: Page {
    static let template = TemplateLibrary.Name.finder

    /// A collection or document that was found.
    struct Match: ViewModel {
        let url: String
        let path: DisplayText

        fileprivate init(_ path: ResourcePath) {
            url = AdminURL.resource(path)
            self.path = DisplayText(path.string.truncatingMiddle(toScalars: 160))
        }
    }

    /// A page or an action that was found.
    struct Command: ViewModel {
        let url: String
        let title: String
        /// The collection or document that the action applies to.
        let path: DisplayText?

        fileprivate init(_ command: PageCommand) {
            (url, title) = (command.url, command.title)
            path = command.path.map { DisplayText($0.string.truncatingMiddle(toScalars: 160)) }
        }
    }

    var layout = PageLayout(title: localized("Search results"))
    let status: HTTPResponse.Status
    private let searchText: DisplayText?
    private let problem: DisplayText?
    private let missing: Match?
    private let isMissingCollection: Bool
    private let hasCollections: Bool
    private let collections: [Match]
    private let hasDocuments: Bool
    private let documents: [Match]
    private let hasCommands: Bool
    private let commands: [Command]
    private let hasMore: Bool
    /// The text about parts that were not searched; `nil` if all were.
    private let omissions: String?
    private let isEmpty: Bool
    private let isBlank: Bool

    init(_ results: FinderResults, for input: FinderInput) {
        status = results.problem == nil ? .ok : .badRequest
        searchText = input.text.utf8.isEmpty ? nil : DisplayText(truncating: input.text, toScalars: 200)
        problem = results.problem.map { DisplayText($0) }
        missing = results.missing.map(Match.init)
        isMissingCollection = if case .collection? = results.missing { true } else { false }
        collections = results.collections.map { Match(.collection($0)) }
        hasCollections = !collections.isEmpty
        documents = results.documents.map { Match(.document($0)) }
        hasDocuments = !documents.isEmpty
        commands = results.commands.map(Command.init)
        hasCommands = !commands.isEmpty
        hasMore = results.hasMore
        omissions =
            if results.omissions.contains(.collections) {
                localized("The search is incomplete. Not all collections were searched.")
            } else if results.omissions.contains(.subcollections) {
                localized("The search is incomplete: subcollections are found only in the first documents of each collection.")
            } else {
                nil
            }
        isBlank = if case .nothing = input.target { true } else { false }
        isEmpty = results.isEmpty && !isBlank && problem == nil && missing == nil
        layout.findText = FormTextCoding.roundTrips(input.text, lines: .single) ? input.text : ""
    }
}
