/// Something that could not be done, for the page.
struct FaultView: Sendable {
    private let place: DisplayText
    private let message: DisplayText

    init(_ fault: Work.Fault) {
        place = DisplayText(fault.place)
        message = DisplayText(fault.message)
    }
}

extension FaultView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "place": place
        case "message": message
        default: nil
        }
    }
}
