import DocumentModel
import StrictJSON

/// The form by which the columns of a table are chosen.
struct ColumnForm: Sendable {
    private let action: String
    private let options: [Option]
    private let kept: [Option]
    private let resetURL: String?

    /// - Parameters:
    ///   - found: The fields that there are.
    ///   - shown: The columns that the table has.
    init(_ request: CollectionRequest, found: [FieldPath], shown: [CollectionColumns.Column]) {
        let shownPaths = Set(shown.map(\.path))
        let others = shown.map(\.path).filter { !found.contains($0) }
        options = (others + found).prefix(Self.limit).map { path in
            let text = FieldText.text(path)
            return Option(text, text, isCurrent: shownPaths.contains(path))
        }
        action = AdminURL.collection(request.path)
        var rest = request
        rest.columns = []
        kept = FilterFormView.items(of: rest)
        resetURL = request.columns.isEmpty ? nil : request.url { $0.columns = [] }
    }

    private static let limit = 200
}

extension ColumnForm: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "action": action
        case "boxesMarkup": options.boxesMarkup(named: "cols")
        case "hasOptions": !options.isEmpty
        case "kept": kept
        case "resetURL": resetURL.orAbsent
        default: nil
        }
    }
}
