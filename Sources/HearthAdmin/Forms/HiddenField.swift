/// A hidden form field.
struct HiddenField: ViewModel {
    let name: String
    let value: String
}
